import { expect, it, onTestFinished } from 'vitest'
import { describePostgres } from '../../../test/kit/database/database.ts'
import { administer } from '../../../test/kit/database/postgres-server.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import type { Log } from '../log/index.ts'
import { describeBus, watchedLog } from './conformance/bus.ts'
import { openPostgresBus } from './postgres.ts'

describePostgres('PostgreSQL', (open) => {
  async function world() {
    const place = await open.place()
    const url = place.databaseUrl ?? ''
    return { url, open: async (log: Log = watchedLog()) => openPostgresBus({ url, db: await open(place), log }) }
  }

  describeBus('the bus over NOTIFY', { isShared: true }, async () => (await world()).open)

  it('calls every listener once with undefined after a reconnect', async () => {
    const { url, open: openBus } = await world()
    const bus = await openBus()
    onTestFinished(() => bus.close())
    const heard: (string | undefined)[] = []
    bus.subscribe('a', (payload) => heard.push(payload))
    await administer(url, killBus)
    await eventually(() => expect(heard).toEqual([undefined]))
    await bus.ping()
  })

  it('receives hints of other processes after a reconnect', async () => {
    const { url, open: openBus } = await world()
    const [first, second] = [await openBus(), await openBus()]
    onTestFinished(async () => void (await Promise.all([first.close(), second.close()])))
    const heard: (string | undefined)[] = []
    second.subscribe('a', (payload) => heard.push(payload))
    await administer(url, killBus)
    await eventually(() => expect(heard).toEqual([undefined]))
    first.publish('a', 'x')
    await eventually(() => expect(heard).toEqual([undefined, 'x']))
  })

  it('rejects a ping while it is disconnected', async () => {
    const { url, open: openBus } = await world()
    const bus = await openBus()
    onTestFinished(() => bus.close())
    await administer(url, killBus)
    await eventually(() => expect(bus.ping()).rejects.toThrow('not connected'))
  })

  it('does not open without a server', async () => {
    const db = await open()
    const url = 'postgres://nobody@127.0.0.1:9/none'
    await expect(openPostgresBus({ url, db, log: watchedLog() })).rejects.toThrow()
  })

  it('closes while it reconnects', async () => {
    const { url, open: openBus } = await world()
    const bus = await openBus()
    await administer(url, killBus)
    await bus.close()
    await expect(bus.ping()).rejects.toThrow('not connected')
  })
})

const killBus = `select pg_terminate_backend(pid) from pg_stat_activity
  where application_name = 'posthorn-bus' and datname = current_database()`
