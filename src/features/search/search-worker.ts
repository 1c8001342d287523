import { parentPort, workerData } from 'node:worker_threads'
import {
  type IndexFile,
  type IndexFileOptions,
  isDamaged,
  openIndexFile,
  removeIndexFile,
} from './sqlite/index-file.ts'
import { termsOf } from './terms.ts'
import type { IndexedMessage, SearchReply, SearchRequest } from './thread.ts'

// The worker thread of `thread.ts`: handles one request after the other. Opens the index with the first one.
const options = workerData as IndexFileOptions | undefined
let opened: IndexFile | undefined

parentPort?.on('message', (request: SearchRequest) => {
  parentPort?.postMessage(replyTo(request))
})

function replyTo({ id, ...request }: SearchRequest): SearchReply {
  try {
    if (request.kind === 'terms') return { id, result: JSON.stringify(request.messages.map(rowOf)) }
    if (options === undefined) throw new Error('it has no file')
    opened ??= openIndexFile(options)
    if (request.kind === 'find') return { id, result: opened.find(request.query) }
    if (request.kind === 'indexed') return { id, result: opened.indexed(request.messageIds) }
    if (request.kind === 'index') opened.index(request.messageIds)
    return { id, result: opened.identity }
  } catch (error) {
    if (options !== undefined && isDamaged(error)) {
      opened?.close()
      opened = undefined
      removeIndexFile(options.file)
    }
    return { id, error: error instanceof Error ? error.message : String(error) }
  }
}

function rowOf(message: IndexedMessage) {
  return { messageId: message.id, receivedAt: message.receivedAt, terms: termsOf(message) }
}
