import { expect, it } from 'vitest'
import { caldavAccess } from '../../../test/kit/calendars/caldav.ts'
import { closing } from '../../../test/kit/closing.ts'
import { testCarddav } from '../../../test/kit/contacts/carddav.ts'
import { multistatus, startDavServer } from '../../../test/servers/dav-server.ts'

const BOOK = '<D:resourcetype><D:collection/><CR:addressbook/></D:resourcetype><D:displayname>People</D:displayname>'

it('asks the server that a sign-in by OAuth names for contacts, and not the one for calendars', async () => {
  const server = () => startDavServer(() => multistatus({ '/people/': BOOK }))
  const [calendars, contacts] = [closing(await server()), closing(await server())]
  const { provider } = closing(testCarddav())
  const url = ({ port }: { port: number }) => `http://127.0.0.1:${port}/people/`
  const { settings, ...access } = caldavAccess(url(calendars), 'ada', '')
  const { listBooks } = provider.open({
    ...access,
    settings: { ...settings, carddav: { url: url(contacts) } },
    accessToken: async () => 'token',
  })
  expect(await listBooks(new AbortController().signal)).toMatchObject([{ name: 'People' }])
  expect([calendars.calls.length, contacts.calls.length > 0]).toEqual([0, true])
})
