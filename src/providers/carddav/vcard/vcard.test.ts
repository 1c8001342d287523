import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { fc } from '../../../../test/kit/random/random.ts'
import { NO_FIELDS } from '../../conformance/contacts.ts'
import type { ContactFields, RemoteContact, RemoteContactGroup } from '../../contract/index.ts'
import { formatCard, parseCard } from './card.ts'
import { mapCard } from './map.ts'
import { newCard } from './new-card.ts'
import { applyFields } from './write.ts'

const PYTHON = '/usr/bin/python3'
const NOW_MS = Date.parse('2026-11-20T08:00:00Z')

function contact(text: string): RemoteContact {
  const mapped = mapCard({ path: '/a/1.vcf', etag: '"1"', text })
  if (!('contact' in mapped)) throw new Error(JSON.stringify(mapped))
  return mapped.contact
}

function group(text: string): RemoteContactGroup {
  const mapped = mapCard({ path: '/a/1.vcf', etag: '"1"', text })
  if (!('group' in mapped)) throw new Error(JSON.stringify(mapped))
  return mapped.group
}

function card(...lines: string[]): string {
  return ['BEGIN:VCARD', 'VERSION:3.0', ...lines, 'END:VCARD', ''].join('\r\n')
}

function changed(text: string, changes: Partial<ContactFields>): string {
  const parsed = parseCard(text)
  if ('problem' in parsed) throw new Error(parsed.problem)
  applyFields(parsed, changes)
  return formatCard(parsed)
}

describe('a vCard', () => {
  it('of iCloud has labels, an omitted year, and a preferred address', () => {
    const text = card(
      'N:Moreau;Lin;;Dr.;',
      'FN:Dr. Lin Moreau',
      'item1.EMAIL;type=INTERNET:home@lin.example',
      'item1.X-ABLabel:_$!<HomePage>!$_',
      'EMAIL;type=INTERNET;type=WORK;type=pref:lin@northwind.example',
      'TEL;type=CELL;type=VOICE:+33 1',
      'item2.TEL:+33 2',
      'item2.X-ABLabel:Yacht',
      'BDAY;X-APPLE-OMIT-YEAR=1604:1604-04-12',
      'ORG:Northwind;Purchasing;',
      'X-SOCIALPROFILE;type=twitter:https://twitter.example/lin',
      'IMPP;X-SERVICE-TYPE=Skype;type=HOME:skype:lin.moreau',
      'PHOTO;X-ABCROP-RECTANGLE=ABClipRect_1&0&0&640;VALUE=uri:https://gateway.icloud.example/p',
      'URL;type=WORK:https\\://northwind.example',
      'REV:2026-11-19T10:00:00Z',
      'UID:urn:uuid:1-2-3',
    )
    expect(contact(text)).toMatchObject({
      uid: '1-2-3',
      displayName: 'Dr. Lin Moreau',
      prefix: 'Dr.',
      birthday: '--04-12',
      companyName: 'Northwind',
      department: 'Purchasing',
      emails: [
        { email: 'lin@northwind.example', type: 'work' },
        { email: 'home@lin.example', type: 'homepage' },
      ],
      phoneNumbers: [
        { number: '+33 1', type: 'mobile' },
        { number: '+33 2', type: 'yacht' },
      ],
      imAddresses: [{ imAddress: 'lin.moreau', type: 'skype' }],
      webPages: [{ url: 'https://northwind.example', type: 'work' }],
      hasPhoto: true,
      updatedAt: Date.parse('2026-11-19T10:00:00Z'),
    })
  })

  it('of version 4.0 and 2.1 is read, and one without a name gets one', () => {
    const four = 'BEGIN:VCARD\nVERSION:4.0\nFN:Zoë\nBDAY:--0412\nTEL;VALUE=uri;TYPE="home,voice":tel:+46-8\nEND:VCARD\n'
    expect(contact(four)).toMatchObject({
      displayName: 'Zoë',
      birthday: '--04-12',
      phoneNumbers: [{ number: '+46-8', type: 'home' }],
    })
    const old = [
      'BEGIN:VCARD',
      'VERSION:2.1',
      'N;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:M=FCller;J=F6rg',
      'TEL;WORK;FAX:123',
      'NOTE;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:one=0D=0A=',
      'two',
      'END:VCARD',
    ].join('\r\n')
    expect(contact(old)).toMatchObject({
      displayName: 'Jörg Müller',
      phoneNumbers: [{ number: '123', type: 'fax' }],
      notes: 'one\r\ntwo',
    })
    expect(contact(card('ORG:Acme')).displayName).toBe('Acme')
  })

  it('of a group lists its members, in both forms', () => {
    const apple = card('FN:Team', 'X-ADDRESSBOOKSERVER-KIND:group', 'X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:A')
    expect(group(apple)).toMatchObject({ name: 'Team', members: ['A'] })
    expect(group(card('FN:Team', 'KIND:group', 'MEMBER:urn:uuid:B'))).toMatchObject({ members: ['B'] })
  })

  it('that is changed keeps everything else as it was', () => {
    const lines = [
      'N:Moreau;Lin;Marie,Claire;;',
      'FN:Lin Moreau',
      'item1.EMAIL;TYPE=INTERNET;X-MAGIC="a;b":home@lin.example',
      'item1.X-ABLabel:Boat',
      'EMAIL;TYPE=INTERNET,WORK;PREF=1:lin@northwind.example',
      'TEL;TYPE=CELL;X-SPAM=no:+33 1',
      'X-UNKNOWN;A=1;B="x:y":kept\\, as it is',
      'ORG:Northwind;Purchasing;Team 4',
      `PHOTO;ENCODING=b;TYPE=JPEG:${'A'.repeat(3000)}`,
      'ADR;TYPE=HOME;LABEL="old":Box 1;;Street 2;City;;123;France',
    ]
    const address = contact(card(...lines)).physicalAddresses
    const changes = {
      jobTitle: 'Buyer',
      emails: [
        { email: 'lin@northwind.example', type: 'work' },
        { email: 'new@lin.example', type: 'home' },
      ],
      physicalAddresses: address,
      companyName: 'Northwind SA',
    }
    const after = changed(card(...lines), changes)
      .replaceAll('\r\n ', '')
      .split('\r\n')
    const kept = lines.filter((line) => !/^item1|^ORG/.test(line))
    for (const line of kept) expect(after).toContain(line)
    expect(after.filter((line) => /EMAIL|X-ABLabel|^ORG|^TITLE/.test(line))).toEqual([
      'EMAIL;TYPE=INTERNET,WORK;PREF=1:lin@northwind.example',
      'EMAIL;TYPE=internet,home:new@lin.example',
      'ORG:Northwind SA;Purchasing;Team 4',
      'TITLE:Buyer',
    ])
    expect(changed(card(...lines), {})).toBe(changed(changed(card(...lines), {}), {}))
  })

  it('with a new first address prefers that one', () => {
    const text = card('N:M;L;;;', 'FN:L M', 'EMAIL;TYPE=pref,home:a@x.example', 'EMAIL:b@x.example')
    const emails = [...contact(text).emails].reverse()
    expect(contact(changed(text, { emails })).emails.map(({ email }) => email)).toEqual(['b@x.example', 'a@x.example'])
  })

  it('writes any text so that it is read back, and no line appears', () => {
    const texts = fc
      .string({ unit: 'grapheme', maxLength: 40 })
      .map((text) => text.replaceAll(/[\p{C}\s]+/gu, ' ').trim())
    fc.assert(
      fc.property(texts, texts, texts, (surname, nickname, jobTitle) => {
        const written = formatCard(
          newCard('1', { ...NO_FIELDS, surname, nickname, jobTitle, displayName: 'X' }, NOW_MS),
        )
        const read = contact(written)
        expect([read.surname, read.jobTitle]).toEqual([
          surname.replaceAll(/\s+/g, ' '),
          jobTitle.replaceAll(/\s+/g, ' '),
        ])
        expect(written.match(/^(?:BEGIN|END|N|FN|UID)[:;]/gm)).toEqual(['BEGIN:', 'UID:', 'N:', 'FN:', 'END:'])
      }),
      { numRuns: 50 },
    )
    const line = 'a\r\nEND:VCARD\r\nX-EVIL:1'
    const evil = formatCard(
      newCard('1', { ...NO_FIELDS, displayName: line, notes: line, emails: [{ email: line, type: line }] }, NOW_MS),
    )
    expect(evil.match(/^(?:END|X-EVIL)/gm)).toEqual(['END'])
  })

  it('that we wrote is read by vobject', () => {
    const fields: ContactFields = {
      ...NO_FIELDS,
      displayName: 'Zoë Åkesson, Jr.',
      givenName: 'Zoë; "Z"',
      middleName: 'Maria',
      surname: 'Åkesson',
      nickname: 'Zo',
      birthday: '1985-04-12',
      companyName: 'Acme, Ltd; Sons',
      department: 'R\\D',
      jobTitle: 'Engineer',
      notes: 'one\ntwo, three; "four" \\ five',
      emails: [
        { email: 'zoe@acme.example', type: 'work' },
        { email: 'zoe@home.example', type: 'home' },
      ],
      phoneNumbers: [{ number: '+46 8 123', type: 'mobile' }],
      physicalAddresses: [
        { type: 'work', streetAddress: 'Storgatan 1', city: 'Stockholm', postalCode: '1', state: '', country: 'SE' },
      ],
      categories: ['Friends, close', 'Work'],
    }
    const input = JSON.stringify([formatCard(newCard('1', fields, NOW_MS))])
    const { stdout, stderr } = spawnSync(PYTHON, ['-B', 'test/kit/contacts/read_vcards.py'], { input })
    expect(stderr.toString()).toBe('')
    expect(JSON.parse(stdout.toString())).toEqual([
      {
        displayName: fields.displayName,
        surname: fields.surname,
        givenName: fields.givenName,
        middleName: fields.middleName,
        nickname: fields.nickname,
        birthday: fields.birthday,
        company: [fields.companyName, fields.department],
        jobTitle: fields.jobTitle,
        notes: fields.notes,
        emails: [
          ['zoe@acme.example', ['work']],
          ['zoe@home.example', ['home']],
        ],
        phones: [['+46 8 123', ['cell']]],
        streets: ['Storgatan 1'],
        categories: fields.categories,
      },
    ])
  })

  it.each([
    ['no vCard', '<html>', 'It is not a vCard.'],
    ['100,000 lines', card(...Array.from({ length: 100_000 }, () => 'X:1')), 'more than 20,000 lines'],
    ['2 MB of notes', card(`NOTE:${'x'.repeat(2_000_000)}`), 'larger than 1 MB'],
  ])('that is hostile is unreadable: %s', (_name, text, reason) => {
    expect(mapCard({ path: '/a/1.vcf', etag: null, text })).toEqual({ unreadable: expect.stringContaining(reason) })
  })

  it('that is hostile is bounded', () => {
    const startedMs = process.cpuUsage().user / 1000
    const many = card('FN:Many', ...Array.from({ length: 15_000 }, (_, at) => `EMAIL;TYPE=x${at}:${at}@x.example`))
    expect(contact(many).emails).toHaveLength(100)
    const photo = card('FN:Photo', `PHOTO;ENCODING=b;TYPE=JPEG:${'A'.repeat(20_000_000)}`)
    expect(contact(photo)).toMatchObject({ displayName: 'Photo', hasPhoto: true })
    const nested = card('FN:Nested', ...Array.from({ length: 1000 }, () => 'BEGIN:VCARD'), 'AGENT:x')
    expect(contact(nested).displayName).toBe('Nested')
    const parameters = card('FN:Long', `EMAIL${';A=1'.repeat(10_000)}:a@x.example`, `TEL;TYPE=${'a,'.repeat(20_000)}:1`)
    expect(contact(parameters).emails).toEqual([])
    const odd = card('FN:\ud800\0odd\u202e', 'BDAY:1985-02-31', 'URL:javascript:alert(1)', 'EMAIL:', 'N:;;;;')
    expect(contact(odd)).toMatchObject({ displayName: '\ufffdodd\u202e', birthday: null, webPages: [], emails: [] })
    expect(process.cpuUsage().user / 1000 - startedMs).toBeLessThan(3000)
  })
})
