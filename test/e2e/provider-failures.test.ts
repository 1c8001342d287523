import { describe } from 'vitest'
import { databases } from '../kit/database/database.ts'
import { testEveryProviderFailure } from '../scenarios/provider-failures.ts'

describe('failures of Google and Microsoft, on the file store', () => testEveryProviderFailure(databases('sqlite')))
