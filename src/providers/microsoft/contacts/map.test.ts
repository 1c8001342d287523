import { describe, expect, it } from 'vitest'
import { NO_FIELDS } from '../../conformance/contacts.ts'
import { remoteContact } from './map.ts'

describe('odd contacts of Microsoft', () => {
  const mapped = (contact: object) => remoteContact({ id: 'c1', ...contact })

  it('shows companies, nameless persons, and days without a year or at midnight of any zone', () => {
    expect(mapped({ companyName: 'Acme', displayName: null })).toMatchObject({ displayName: 'Acme' })
    expect(mapped({})).toMatchObject({ ...NO_FIELDS, hasPhoto: null, updatedAt: null, etag: null })
    const days = {
      '1985-04-12T11:59:00Z': '1985-04-12',
      '1985-04-12T12:00:00Z': '1985-04-12',
      '1985-04-11T22:00:00Z': '1985-04-12',
      '1985-04-12T08:00:00Z': '1985-04-12',
      '1985-04-12T00:00:00Z': '1985-04-12',
      '1604-02-29T11:59:00Z': '--02-29',
      'in spring': null,
    }
    expect(Object.keys(days).map((birthday) => mapped({ birthday })?.birthday)).toEqual(Object.values(days))
    const emailAddresses = Array.from({ length: 50 }, (_, index) => ({ address: `a${index}@b.test`, name: '👩‍🚀' }))
    expect(mapped({ emailAddresses })?.emails).toHaveLength(50)
  })

  it('reads values of other types as absent', () => {
    const contact = {
      displayName: {},
      emailAddresses: [null, { address: 5 }, { address: 'a@b.test' }],
      businessPhones: 'none',
      homePhones: [5, '+49 1'],
      businessAddress: [],
      categories: [{}, 'vip'],
      birthday: 5,
    }
    expect(mapped(contact)).toMatchObject({
      ...NO_FIELDS,
      emails: [{ email: 'a@b.test', type: '' }],
      phoneNumbers: [{ number: '+49 1', type: 'home' }],
      categories: ['vip'],
    })
    expect(remoteContact({ displayName: 'Zoë' })).toBeUndefined()
  })
})
