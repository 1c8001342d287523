import { vcard } from '../test/servers/vcards.ts'

/** A contact of the benchmark. */
export interface BenchContact {
  n: number
  displayName: string
  givenName: string
  surname: string
  email: string
  phone: string
  categories: string[]
}

const GIVEN_NAMES = ['Ada', 'Bob', 'Carla', 'Dmitri', 'Elif', 'Farid', 'Grace', 'Hiroshi', 'Inès', 'Jonas', 'Kwame']
const SYLLABLES = ['ber', 'lin', 'mor', 'ka', 'sson', 'dal', 'rey', 'tan', 'vic', 'zu', 'hol', 'mé', 'gra']
const CATEGORIES = ['Customers', 'Friends', 'Press', 'Suppliers']

/** Every third contact is in a category, and no two have the same address or number. */
export function benchContacts(count: number): BenchContact[] {
  return Array.from({ length: count }, (_, n) => {
    const syllable = (divisor: number) => SYLLABLES[Math.floor(n / divisor) % SYLLABLES.length] ?? ''
    const givenName = GIVEN_NAMES[n % GIVEN_NAMES.length] ?? ''
    const surname = [syllable(1), syllable(13), syllable(169)].join('').replace(/^./, (letter) => letter.toUpperCase())
    const category = CATEGORIES[Math.floor(n / 3) % CATEGORIES.length] ?? ''
    return {
      n,
      displayName: `${givenName} ${surname}`,
      givenName,
      surname,
      email: `p${n}@company${n % 400}.example`,
      phone: `+49 30 ${1_000_000 + n}`,
      categories: n % 3 === 0 ? [category] : [],
    }
  })
}

/** The name of its file, and the vCard. */
export function buildCard({ n, displayName, givenName, surname, email, phone, categories }: BenchContact) {
  const card = vcard(
    `contact-${n}`,
    {
      displayName,
      givenName,
      surname,
      categories,
      companyName: `Company ${n % 400}`,
      jobTitle: 'Head of purchasing',
      birthday: `19${50 + (n % 50)}-04-12`,
      notes: 'We met at the fair and agreed on the next steps.\n'.repeat(1 + (n % 5)),
      emails: [
        { email, type: 'work' },
        { email: `private${n}@mail.example`, type: 'home' },
      ],
      phoneNumbers: [
        { number: phone, type: 'work' },
        { number: `+49 170 ${2_000_000 + n}`, type: 'mobile' },
      ],
      physicalAddresses: [
        {
          type: 'work',
          streetAddress: `${1 + (n % 90)} Harbour Street`,
          city: 'Hamburg',
          state: '',
          postalCode: '20457',
          country: 'Germany',
        },
      ],
    },
    [`X-OWN-NUMBER:${n}`, 'item1.URL:https://www.company.example/', 'item1.X-ABLabel:_$!<HomePage>!$_'],
  )
  return [`contact-${n}.vcf`, card] as const
}
