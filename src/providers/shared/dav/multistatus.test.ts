import { describe, expect, it } from 'vitest'
import { child, parseDav } from './multistatus.ts'

const read = (xml: string) => parseDav(Buffer.from(xml), 'testing')
const refused = expect.objectContaining({ name: 'ProviderError', kind: 'limit_exceeded' })

describe('parseDav', () => {
  it('reads resources with their properties, whatever the prefixes', async () => {
    const documents = [
      `<?xml version="1.0"?><d:multistatus xmlns:d="DAV:" xmlns:cal="urn:ietf:params:xml:ns:caldav"><d:response><d:href>/a/</d:href>
       <d:propstat><d:prop><d:displayname>R&amp;D &#x1F4C5;</d:displayname><cal:calendar-data><![CDATA[a<b]]></cal:calendar-data></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>
       <d:propstat><d:prop><d:getetag/></d:prop><d:status>HTTP/1.1 404 Not Found</d:status></d:propstat>
       </d:response><d:sync-token> t1 </d:sync-token></d:multistatus>`,
      `<multistatus xmlns="DAV:"><response><href>/a/</href><propstat><prop><displayname>R&amp;D \u{1F4C5}</displayname>
       <data:calendar-data xmlns:data="urn:ietf:params:xml:ns:caldav">a&lt;b</data:calendar-data></prop><status>HTTP/1.1 200 OK</status></propstat></response><sync-token>t1</sync-token></multistatus>`,
    ]
    for (const xml of documents) {
      const { resources, syncToken } = await read(xml)
      expect(resources).toHaveLength(1)
      expect(resources[0]).toMatchObject({ href: '/a/', status: 200 })
      const { properties = new Map() } = resources[0] ?? {}
      expect([...properties.keys()]).toEqual(['D:displayname', 'C:calendar-data'])
      expect(properties.get('D:displayname')?.text).toBe('R&D \u{1F4C5}')
      expect(properties.get('C:calendar-data')?.text).toBe('a<b')
      expect(syncToken).toBe('t1')
    }
  })

  it('reads the status of resources, nested elements, and the preconditions of an error', async () => {
    const { resources } = await read(
      `<multistatus xmlns="DAV:"><response><href>/1</href><href>/2</href><status>HTTP/1.1 404 Not Found</status></response>
       <response><href>/3</href><propstat><prop><owner><href>/p/</href></owner></prop></propstat></response></multistatus>`,
    )
    expect(resources.map(({ href, status }) => [href, status])).toEqual([
      ['/1', 404],
      ['/2', 404],
      ['/3', 200],
    ])
    expect(child(resources[2]?.properties.get('D:owner'), 'D:href')?.text).toBe('/p/')
    expect((await read('<D:error xmlns:D="DAV:"><D:valid-sync-token/></D:error>')).errors).toEqual([
      'D:valid-sync-token',
    ])
  })

  it.each([
    '',
    'no XML at all',
    '<html><body><p>Sign in</body></html>',
    '<multistatus><response>',
    '<a',
    '{"json": 1}',
  ])('finds nothing in %j', async (text) => {
    expect(await read(text)).toMatchObject({ resources: [], syncToken: undefined, errors: [] })
  })

  it('does not expand entities of the document', async () => {
    const bomb = `<!DOCTYPE m [<!ENTITY a "${'x'.repeat(1000)}"><!ENTITY b "&a;&a;&a;">]>
      <D:multistatus xmlns:D="DAV:"><D:response><D:href>/&b;</D:href></D:response></D:multistatus>`
    expect((await read(bomb)).resources[0]?.href ?? '').not.toContain('xxx')
  })

  it.each([
    ['deep', '<D:response>'.repeat(5000)],
    ['wide', `<D:response>${'<D:a/>'.repeat(5000)}`],
    ['many attributes', `<D:response ${Array.from({ length: 5000 }, (_, at) => `a${at}=""`).join(' ')}>`],
    ['many resources', '<D:response><D:href>/</D:href></D:response>'.repeat(60_000)],
  ])('refuses a document that is too large: %s', async (_name, inner) => {
    await expect(read(`<D:multistatus xmlns:D="DAV:">${inner}`)).rejects.toEqual(refused)
  })
})
