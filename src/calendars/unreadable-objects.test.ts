import { describe, expect, it } from 'vitest'
import { openImap } from '../../test/kit/calendars/calendar-accounts.ts'
import { eventually } from '../../test/kit/eventually.ts'
import { dovecotAvailable } from '../../test/servers/dovecot.ts'
import { radicaleAvailable } from '../../test/servers/radicale.ts'

describe.skipIf(!dovecotAvailable() || !radicaleAvailable())('a calendar with odd objects', () => {
  it('shows and logs which events cannot be read as they are', async () => {
    const account = await openImap()
    try {
      const calendars = async () => (await account.api.get(`/accounts/${account.id}/calendars`)).json.calendars
      expect((await calendars())[0].unreadable).toEqual({ count: 0, events: [] })
      const text = [
        'BEGIN:VCALENDAR',
        'VERSION:2.0',
        'PRODID:-//tests//EN',
        'BEGIN:VEVENT',
        'UID:odd@example.com',
        'DTSTAMP:20261101T000000Z',
        'DTSTART;TZID=Our office:20270601T090000',
        'DURATION:PT1H',
        'SUMMARY:Somewhere',
        'END:VEVENT',
        'END:VCALENDAR',
        '',
      ].join('\r\n')
      await account.putObject?.(text)
      await account.sync()
      const reason = 'TZID "Our office" is no known zone: the calendar\'s zone counts.'
      await eventually(async () =>
        expect((await calendars())[0].unreadable).toEqual({
          count: 1,
          events: [{ providerEventId: expect.stringMatching(/\.ics$/), reason }],
        }),
      )
      // Logged once, however often the calendar is read.
      await account.sync()
      await account.sync()
      const logged = account.warnings().filter(({ message }) => message.includes(reason))
      expect(logged).toMatchObject([
        {
          message: `An event of the calendar "work" cannot be read as it is: ${reason}`,
          metadata: { calendarId: (await calendars())[0].id, eventId: expect.stringMatching(/\.ics$/) },
        },
      ])
    } finally {
      await account.stop()
    }
  })
})
