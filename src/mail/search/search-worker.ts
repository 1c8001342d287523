import { workerData } from 'node:worker_threads'
import { serveThread } from '../../platform/threads/worker-thread.ts'
import {
  type IndexFile,
  type IndexFileOptions,
  isDamaged,
  openIndexFile,
  removeIndexFile,
} from './sqlite/index-file.ts'
import { extractTerms } from './terms.ts'
import type { IndexedMessage, SearchRequest, SearchResult } from './thread.ts'

// The worker thread of `thread.ts`: handles one request after the other. Opens the index with the first one.
const options = workerData as IndexFileOptions | undefined
let opened: IndexFile | undefined

serveThread<SearchRequest, SearchResult>((request) => {
  if (request.kind === 'terms') return JSON.stringify(request.messages.map(toRow))
  if (options === undefined) throw new Error('it has no file')
  try {
    opened ??= openIndexFile(options)
    if (request.kind === 'find') return opened.find(request.query)
    if (request.kind === 'indexed') return opened.indexed(request.messageIds)
    if (request.kind === 'index') opened.index(request.messageIds)
    return opened.identity
  } catch (error) {
    if (isDamaged(error)) {
      opened?.close()
      opened = undefined
      removeIndexFile(options.file)
    }
    throw error
  }
})

function toRow(message: IndexedMessage) {
  return { messageId: message.id, receivedAt: message.receivedAt, terms: extractTerms(message) }
}
