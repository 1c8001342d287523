import { app } from './app/app.ts'
import { run, type SignalName } from './app/lifecycle.ts'
import { runtimeContext } from './app/runtime-context.ts'
import { readConfig } from './config/index.ts'

/** The service as a process: settings, application, signals, drain, exit. Throws `ConfigError` before anything is opened. */
export async function main(): Promise<void> {
  const context = runtimeContext(readConfig())
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
    exit: (code) => process.exit(code),
  })
}
