import { app } from './app/app.ts'
import { banner } from './app/banner.ts'
import { run, type SignalName } from './app/lifecycle.ts'
import { runtimeContext } from './app/runtime-context.ts'
import { readConfig } from './config/index.ts'
import { stdoutSink, textSink } from './platform/log/index.ts'

/** The service as a process: settings, application, signals, drain, exit. Throws `ConfigError` before anything is opened. */
export async function main(): Promise<void> {
  const loaded = readConfig()
  const { logFormat } = loaded.config
  const isTerminal = process.stdout.isTTY === true
  const isText = logFormat === 'text' || (logFormat === 'auto' && isTerminal)
  const write = (text: string) => void process.stdout.write(text)
  const color = isTerminal && process.stdout.hasColors()
  const context = runtimeContext(loaded, isText ? textSink({ write, color }) : stdoutSink())
  // The database and its journal are for this user alone, whatever the folder allows.
  process.umask(0o077)
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error) => {
      context.log.fatal('An unexpected error ends the process.', { operation: 'service.crash', error })
      process.exit(1)
    })
  }
  await run(app(context), context, {
    onSignal(listener) {
      for (const signal of ['SIGINT', 'SIGTERM'] satisfies SignalName[]) process.on(signal, () => listener(signal))
    },
    onStarted(url) {
      if (isTerminal && isText) write(banner(loaded.config, url))
    },
    onStartFailed(message) {
      // Records in JSON are for programs, or go to a file.
      if (!isText) process.stderr.write(`posthorn: ${message}\n`)
    },
    exit: (code) => process.exit(code),
  })
}
