import { expect, it } from 'vitest'
import { grantsFor, newGrants } from './grants.ts'

const google = 'https://www.googleapis.com/auth/'

it('lists only what narrowed scopes permit', () => {
  expect(grantsFor('gmail', [`${google}gmail.readonly`, 'openid'])).toEqual(['read'])
  expect(grantsFor('gmail', [`${google}gmail.readonly`, `${google}calendar.readonly`])).toEqual([
    'read',
    'calendarRead',
  ])
  expect(grantsFor('microsoft', ['Mail.Read', 'Mail.Send', 'User.Read'])).toEqual(['read', 'send'])
})

it('finds what a connected mailbox did not grant', () => {
  const mail = `${google}gmail.modify`
  const requested = [mail, `${google}calendar.readonly`, `${google}calendar.events`]
  expect(newGrants('gmail', requested, [mail, 'openid'])).toEqual(['calendarChange'])
  expect(newGrants('gmail', requested, [mail, `${google}calendar`])).toEqual([])
  expect(newGrants('gmail', requested)).toEqual([])
  const graph = ['Mail.ReadWrite', 'Mail.Send', 'Calendars.ReadWrite']
  expect(newGrants('microsoft', graph, ['Mail.Read', 'Calendars.Read'])).toEqual(['change', 'send', 'calendarChange'])
})
