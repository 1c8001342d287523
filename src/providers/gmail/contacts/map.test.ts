import { describe, expect, it } from 'vitest'
import { NO_FIELDS } from '../../conformance/contacts.ts'
import { remoteContact } from './map.ts'

describe('odd contacts of Google', () => {
  const mapped = (person: object) => remoteContact('people/c1', person as Record<string, unknown>)

  it('shows companies, nameless persons, days without a year, many addresses, and addresses that are one text', () => {
    expect(mapped({ organizations: [{ name: 'Acme' }] })).toMatchObject({ displayName: 'Acme', companyName: 'Acme' })
    expect(mapped({})).toMatchObject({ ...NO_FIELDS, etag: null, groupIds: [], hasPhoto: false })
    expect(mapped({ names: [{ displayName: '👩‍🚀 Zoë' }] }).displayName).toBe('👩‍🚀 Zoë')
    expect(mapped({ birthdays: [{ date: { month: 2, day: 29 } }] }).birthday).toBe('--02-29')
    expect(mapped({ birthdays: [{ date: { year: 1985, month: 4, day: 12 } }] }).birthday).toBe('1985-04-12')
    expect(mapped({ birthdays: [{ text: 'in spring' }] }).birthday).toBeNull()
    expect(mapped({ birthdays: [{ date: { year: 1985 } }] }).birthday).toBeNull()
    const emailAddresses = Array.from({ length: 120 }, (_, index) => ({
      value: `a${index}@b.test`,
      type: 'workMobile',
    }))
    expect(mapped({ emailAddresses }).emails).toHaveLength(100)
    expect(mapped({ emailAddresses }).emails[1]).toEqual({ email: 'a1@b.test', type: 'workmobile' })
    expect(mapped({ addresses: [{ formattedValue: 'Storgatan 1\nStockholm' }] }).physicalAddresses).toEqual([
      { type: '', streetAddress: 'Storgatan 1\nStockholm', city: '', postalCode: '', state: '', country: '' },
    ])
    const former = { name: 'Old', title: 'Clerk' }
    expect(mapped({ organizations: [former, { name: 'New', current: true }] }).companyName).toBe('New')
  })

  it('reads values of other types as absent', () => {
    const person = {
      names: 'Zoë',
      emailAddresses: [null, 5, { value: ['a'] }, { value: 'a@b.test', type: {} }],
      birthdays: [{ date: { year: 'x', month: 40, day: 1 } }],
      organizations: { name: 'Acme' },
      memberships: [{ contactGroupMembership: 'starred' }],
      photos: [{ url: 5 }],
      metadata: [],
    }
    expect(mapped(person)).toMatchObject({
      ...NO_FIELDS,
      emails: [{ email: 'a@b.test', type: '' }],
      groupIds: [],
      hasPhoto: false,
    })
  })
})
