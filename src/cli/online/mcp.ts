import { VERSION } from '../../app/version.ts'
import { serveMcpOnStdio } from '../../operations/mcp/index.ts'
import { describeError } from '../../platform/errors/describe-error.ts'
import { type Log, silentLog } from '../../platform/log/index.ts'
import { systemClock } from '../../platform/time/clock.ts'
import type { Command, Terminal } from '../command.ts'
import { untilSignal } from '../until-signal.ts'
import { runningService, SERVICE_OPTIONS } from './running-service.ts'

/** Programs such as Claude Desktop start it and talk to it over stdin and stdout. */
export const mcpCommand: Command = {
  summary: 'serve the accounts of a running service to language models: MCP over stdin and stdout',
  options: {
    'read-only': { about: 'offer only the tools that read, even if the key may write' },
    ...SERVICE_OPTIONS,
  },
  examples: ['posthorn mcp', 'posthorn mcp --read-only --url https://mail.example.com --key phk_…'],
  async run(terminal, { operands, options }) {
    const { url, key } = runningService({ operands, options })
    await untilSignal((signal) =>
      serveMcpOnStdio({
        version: VERSION,
        clock: systemClock,
        log: stderrLog(terminal),
        url,
        apiKey: key,
        isReadOnly: options['read-only'] !== undefined,
        signal,
      }),
    )
  },
}

/** Problems only: programs show stderr of an MCP server to people. */
function stderrLog(terminal: Terminal): Log {
  const write: Log['error'] = (message, fields) =>
    terminal.error(fields?.error === undefined ? message : `${message}: ${describeError(fields.error)}`)
  const log: Log = { ...silentLog, warn: write, error: write, fatal: write, with: () => log }
  return log
}
