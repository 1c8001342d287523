#!/usr/bin/env node
import { cli } from './cli.ts'

process.exitCode = await cli(process.argv.slice(2), {
  out: (text) => process.stdout.write(`${text}\n`),
  width: process.stdout.columns,
  error: (text) => process.stderr.write(`${text}\n`),
  status: process.stderr.isTTY
    ? (text) => process.stderr.write(`\r\u001b[2K${text.slice(0, process.stderr.columns - 1)}`)
    : undefined,
})
