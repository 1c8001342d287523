import { expect, it } from 'vitest'
import { describePostgres } from '../kit/database/database.ts'
import { runStopsUnderLoad } from '../scenarios/stops-under-load.ts'

const STOPS = Number(process.env.STOPS ?? 10)

describePostgres('two replicas under load', (open) => {
  it(`lose and repeat nothing over ${STOPS} stops by SIGTERM`, { timeout: 3_600_000 }, async () => {
    const { databaseUrl = '', dataDir } = await open.place()
    const counts = await runStopsUnderLoad({ databaseUrl, dataDir }, { stops: STOPS, mailboxes: 20, paceMs: 50 })
    console.log(`${STOPS} stops under load: ${JSON.stringify(counts)}`)
    expect(counts.longestExitMs).toBeLessThan(30_000)
    expect(counts.longestTakeOverMs).toBeLessThan(10_000)
  })
})
