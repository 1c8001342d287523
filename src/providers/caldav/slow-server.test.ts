import { expect, it, onTestFinished } from 'vitest'
import { caldavAccess, testCaldav } from '../../../test/kit/calendars/caldav.ts'
import { type DavReply, startDavServer } from '../../../test/servers/dav-server.ts'
import { ProviderError } from '../contract/index.ts'

const RANGE = { from: 0, to: 86_400_000 }

it('every request to a CalDAV server that never responds ends as a timeout of that server', async () => {
  const asked: (() => void)[] = []
  const server = await startDavServer(
    () =>
      new Promise<DavReply>((resolve) => {
        asked.push(() => resolve({}))
      }),
  )
  onTestFinished(() => server.close())
  onTestFinished(() => asked.forEach((end) => void end()))
  const { provider, close } = testCaldav()
  onTestFinished(close)
  const access = caldavAccess(`http://127.0.0.1:${server.port}/`, 'ada', 'secret')
  const target = { calendarId: '/cal/', eventId: 'one.ics', instance: null }
  const changes = provider.edits?.(access)
  if (changes === undefined) throw new Error('the provider changes no events')
  const notify = false
  const requests: Record<string, (signal: AbortSignal) => Promise<unknown>> = {
    listCalendars: (signal) => provider.open(access).listCalendars(signal),
    readRange: (signal) =>
      provider.open(access).readRange({ calendarId: '/cal/', range: RANGE, expand: false, signal }),
    getEvent: (signal) => changes.getEvent(target, signal),
    updateEvent: (signal) =>
      changes.updateEvent({ ...target, changes: { summary: 'Later' }, etag: null, notify, signal }),
    deleteEvent: (signal) => changes.deleteEvent({ ...target, notify, signal }),
    respond: (signal) => changes.respond({ ...target, response: 'accepted', comment: '', notify, signal }),
  }
  for (const [name, request] of Object.entries(requests)) {
    const error = await request(AbortSignal.timeout(50)).catch((thrown: unknown) => thrown)
    expect([name, error]).toEqual([name, expect.any(ProviderError)])
    expect(error, name).toMatchObject({ kind: 'unavailable', timedOut: true, host: '127.0.0.1' })
  }
})
