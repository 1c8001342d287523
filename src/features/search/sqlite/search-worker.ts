import { parentPort, workerData } from 'node:worker_threads'
import { type IndexFile, type IndexFileOptions, isDamaged, openIndexFile, removeIndexFile } from './index-file.ts'
import type { SearchReply, SearchRequest } from './thread.ts'

// The worker thread of `thread.ts`: handles one request after the other. Opens the index with the first one.
const options = workerData as IndexFileOptions
let opened: IndexFile | undefined

parentPort?.on('message', (request: SearchRequest) => {
  parentPort?.postMessage(replyTo(request))
})

function replyTo({ id, ...request }: SearchRequest): SearchReply {
  try {
    opened ??= openIndexFile(options)
    if (request.kind === 'find') return { id, result: opened.find(request.query) }
    if (request.kind === 'indexed') return { id, result: opened.indexed(request.messageIds) }
    if (request.kind === 'index') opened.index(request.messageIds)
    return { id, result: opened.identity }
  } catch (error) {
    if (isDamaged(error)) {
      opened?.close()
      opened = undefined
      removeIndexFile(options.file)
    }
    return { id, error: error instanceof Error ? error.message : String(error) }
  }
}
