/** Worker threads for work that would hold the event loop. */
export { serveThread, WorkerThread } from './worker-thread.ts'
