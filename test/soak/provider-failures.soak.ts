import { describePostgres } from '../kit/database.ts'
import { testEveryProviderFailure } from '../scenarios/provider-failures.ts'

describePostgres('mailboxes at Google and Microsoft in trouble, on PostgreSQL', testEveryProviderFailure)
