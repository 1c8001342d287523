import { expect, it } from 'vitest'
import { collectPeople } from './collect.ts'

const ADA = 'ada@acme.example'
const ALIAS = 'sales@acme.example'

it.each([
  ['from the account', ADA, ['bob@x.example'], false, [['bob@x.example', 1, 0]]],
  ['from an alias, in Sent', 'support@acme.example', ['bob@x.example'], true, [['bob@x.example', 1, 0]]],
  ['to the account, moved to Sent', 'bob@x.example', [ADA], true, [['bob@x.example', 0, 1]]],
  ['from a known alias, elsewhere', ALIAS, ['bob@x.example', ADA], false, [['bob@x.example', 1, 0]]],
  [
    'to a known alias, moved to Sent',
    'bob@x.example',
    ['Sales@acme.example', 'eve@x.example'],
    true,
    [['bob@x.example', 0, 1]],
  ],
  ['with a copy to a known alias', ADA, ['bob@x.example', ALIAS], true, [['bob@x.example', 1, 0]]],
  ['from somebody, elsewhere', 'bob@x.example', ['list@x.example'], false, [['bob@x.example', 0, 1]]],
])('a message %s counts for the right person', (_name, from, to, isInSent, expected) => {
  const fields = JSON.stringify({ from: { name: '', email: from }, to: to.map((email) => ({ name: '', email })) })
  const message = { id: 'msg_1', accountId: 'acc_1', receivedAt: 1, fields, isInSent }
  const people = collectPeople([message], new Map([['acc_1', new Set([ADA, ALIAS])]]))
  expect(people.map(({ email, sent, received }) => [email, sent, received])).toEqual(expected)
})

it.each([
  ['from a mailing list', 'bob@x.example', ADA, false],
  ['to a mailing list', ADA, 'bob@x.example', true],
])('a message %s counts for nobody', (_name, from, to, isInSent) => {
  const fields = JSON.stringify({ from: { name: '', email: from }, to: [{ name: '', email: to }], bulk: true })
  const message = { id: 'msg_1', accountId: 'acc_1', receivedAt: 1, fields, isInSent }
  expect(collectPeople([message], new Map([['acc_1', new Set([ADA])]]))).toEqual([])
})
