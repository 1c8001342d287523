#!/usr/bin/env node
import { processEnvironment } from '../config/index.ts'
import { cli } from './cli.ts'
import { openBrowser } from './open-browser.ts'

const args = process.argv.slice(2)
/** The service goes on when the reader of its log is gone, and the demo stops what it has started. */
const isService = args[0] === 'start' || args[0] === 'demo'

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    // The reader of the pipe, such as `head`, has what it wanted.
    if (!isService) process.exit()
  })
}

process.exitCode = await cli(args, {
  out: (text) => process.stdout.write(`${text}\n`),
  width: process.stdout.columns,
  error: (text) => process.stderr.write(`${text}\n`),
  status: process.stderr.isTTY
    ? (text) => process.stderr.write(`\r\u001b[2K${text.slice(0, process.stderr.columns - 1)}`)
    : undefined,
  openBrowser:
    process.stdout.isTTY || process.stderr.isTTY ? (url) => openBrowser(url, processEnvironment()) : undefined,
})
