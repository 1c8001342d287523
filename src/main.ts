import { app } from './app.ts'
import { readConfig } from './config.ts'
import { ground } from './ground.ts'
import { run, type SignalName } from './lifecycle.ts'

/** The service as a process: settings, application, signals, drain, exit. Throws `ConfigError` before anything is opened. */
export async function main(): Promise<void> {
  const base = ground(readConfig())
  // The database and its journal are for this user alone, whatever the folder allows.
  process.umask(0o077)
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error) => {
      base.log.fatal('An unexpected error ends the process.', { operation: 'service.crash', error })
      process.exit(1)
    })
  }
  await run(app(base), base, {
    onSignal(listener) {
      for (const signal of ['SIGINT', 'SIGTERM'] satisfies SignalName[]) process.on(signal, () => listener(signal))
    },
    exit: (code) => process.exit(code),
  })
}
