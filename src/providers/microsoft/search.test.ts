import { expect, it } from 'vitest'
import { microsoftMailbox } from '../../../test/servers/microsoft-mailbox.ts'
import { idSearch } from '../../../test/servers/search-fixtures.ts'
import { searchConformance } from '../conformance/search.ts'
import { buildQuery } from './search.ts'

searchConformance('microsoft', async () => idSearch(await microsoftMailbox(), { findsPrefixes: true }))

it('joins the words by AND, quotes addresses, and leaves a day around times', () => {
  const day = Date.UTC(2026, 5, 10)
  expect(
    buildQuery({
      text: ['größe', 'OR'],
      from: ['ada@x.example'],
      to: ['bob'],
      subject: ['a"b'],
      after: day,
      before: day,
      hasAttachments: false,
    }),
  ).toBe(
    [
      '(größe OR recipients:größe OR attachment:größe)',
      '(or* OR recipients:or* OR attachment:or*)',
      'from:\\"ada@x.example\\"',
      'recipients:bob*',
      'subject:\\"ab\\"',
      'received>=2026-06-09',
      'received<=2026-06-11',
      'hasAttachments:false',
    ].join(' AND '),
  )
})
