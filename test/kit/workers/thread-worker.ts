/** A worker thread for tests of `WorkerThread`. The first word of a request says what it does. */
import { threadId } from 'node:worker_threads'
import { serveThread } from '../../../src/platform/threads/worker-thread.ts'

serveThread<string, string>((request) => {
  if (request === 'throw') throw new Error('refused by the handler')
  if (request === 'exit') process.exit(3)
  if (request === 'hang') for (;;);
  return `${request} in thread ${threadId}`
})
