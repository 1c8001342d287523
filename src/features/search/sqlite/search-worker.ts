import { parentPort, workerData } from 'node:worker_threads'
import { type IndexFile, type IndexFilePaths, isDamaged, openIndexFile, removeIndexFile } from './index-file.ts'
import type { SearchReply, SearchRequest } from './thread.ts'

// The worker thread of `thread.ts`: handles one request after the other. Opens the index with the first one.
const paths = workerData as IndexFilePaths
let opened: IndexFile | undefined

parentPort?.on('message', (request: SearchRequest) => {
  parentPort?.postMessage(replyTo(request))
})

function replyTo({ id, ...request }: SearchRequest): SearchReply {
  try {
    opened ??= openIndexFile(paths)
    if (request.kind === 'find') return { id, result: opened.find(request.query) }
    if (request.kind === 'index') opened.index(request.messageIds)
    return { id, result: opened.identity }
  } catch (error) {
    if (isDamaged(error)) {
      opened?.close()
      opened = undefined
      removeIndexFile(paths.file)
    }
    return { id, error: error instanceof Error ? error.message : String(error) }
  }
}
