// Loads the files that are its arguments, those of worker threads in a thread, and fails with the first that cannot be loaded.
import { Worker } from 'node:worker_threads'

const THREAD = `import(process.argv[2]).then(() => require('node:worker_threads').parentPort.postMessage('loaded'))`

for (const url of process.argv.slice(2)) {
  if (url.endsWith('-worker.js')) await loadInThread(url)
  else await import(url)
}
process.exit()

function loadInThread(url) {
  return new Promise((resolve, reject) => {
    // The thread of checkpoints opens the database that its data names.
    const worker = new Worker(THREAD, { eval: true, argv: [url], workerData: ':memory:' })
    worker.once('message', () => worker.terminate().then(resolve))
    worker.once('error', reject)
  })
}
