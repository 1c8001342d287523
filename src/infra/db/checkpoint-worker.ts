import { parentPort, workerData } from 'node:worker_threads'
import Database from 'libsql'

// The worker thread of `checkpointer.ts`: each message asks for one checkpoint of the file that it was started with.
const database = new Database(workerData as string)

parentPort?.on('message', () => {
  database.exec('pragma wal_checkpoint(passive)')
  parentPort?.postMessage(undefined)
})
