import { expect, it } from 'vitest'
import { grantsFor } from './grants.ts'

it('lists only what narrowed scopes permit', () => {
  const google = 'https://www.googleapis.com/auth/'
  expect(grantsFor('gmail', [`${google}gmail.readonly`, 'openid'])).toEqual(['read'])
  expect(grantsFor('gmail', [`${google}gmail.readonly`, `${google}calendar.readonly`])).toEqual([
    'read',
    'calendarRead',
  ])
  expect(grantsFor('microsoft', ['Mail.Read', 'Mail.Send', 'User.Read'])).toEqual(['read', 'send'])
})
