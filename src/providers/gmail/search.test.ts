import { expect, it } from 'vitest'
import { gmailMailbox } from '../../../test/servers/gmail-mailbox.ts'
import { idSearch } from '../../../test/servers/search-fixtures.ts'
import { searchConformance } from '../conformance/search.ts'
import { buildQuery } from './search.ts'

const unitsPerMinute = 1e9
searchConformance('gmail', async () => idSearch(await gmailMailbox({ unitsPerMinute }), { findsPrefixes: false }))

it('quotes every word, and leaves a second around times', () => {
  expect(
    buildQuery({
      text: ['größe', 'or'],
      from: ['ada@x.example'],
      to: ['bob'],
      subject: ['in:spam'],
      after: 1500,
      before: 2500,
      unread: false,
      hasAttachments: true,
    }),
  ).toBe(
    '{"größe" filename:"größe"} {"or" filename:"or"} from:"ada@x.example" {to:"bob" cc:"bob" bcc:"bob"} subject:"in:spam" after:0 before:4 is:read has:attachment',
  )
})
