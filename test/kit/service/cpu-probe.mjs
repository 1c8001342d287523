// Loaded by --import: records a CPU profile of the process and writes it to CPU_PROFILE when the process exits.
import { writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'

const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.start')
process.once('exit', () => {
  // A session of the same thread responds within the call.
  session.post('Profiler.stop', (_error, { profile }) =>
    writeFileSync(process.env.CPU_PROFILE, JSON.stringify(profile)),
  )
})
