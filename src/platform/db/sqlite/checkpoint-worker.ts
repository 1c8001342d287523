import { workerData } from 'node:worker_threads'
import Database from 'libsql'
import { serveThread } from '../../threads/worker-thread.ts'

// The worker thread of `checkpointer.ts`: each request asks for one checkpoint of the file that it was started with.
const database = new Database(workerData as string)

serveThread(() => {
  database.exec('pragma wal_checkpoint(passive)')
})
