#!/usr/bin/env node
import { processEnvironment } from '../config/index.ts'
import { main } from '../main.ts'
import { exitCodeOf, type Terminal } from './command.ts'
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

const terminal: Terminal = {
  out: (text) => process.stdout.write(`${text}\n`),
  width: process.stdout.columns,
  error: (text) => process.stderr.write(`${text}\n`),
  status: process.stderr.isTTY
    ? (text) => process.stderr.write(`\r\u001b[2K${text.slice(0, process.stderr.columns - 1)}`)
    : undefined,
  openBrowser:
    process.stdout.isTTY || process.stderr.isTTY ? (url) => openBrowser(url, processEnvironment()) : undefined,
}

// The service needs no other command, and starts earlier without loading them.
process.exitCode =
  args.length === 1 && args[0] === 'start'
    ? await exitCodeOf(main, terminal)
    : await (await import('./cli.ts')).cli(args, terminal)
