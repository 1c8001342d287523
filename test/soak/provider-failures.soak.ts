import { describePostgres } from '../kit/database/database.ts'
import { testEveryProviderFailure } from '../scenarios/provider-failures.ts'

describePostgres('failures of Google and Microsoft, on PostgreSQL', testEveryProviderFailure)
