import { idChanges } from '../../../test/servers/changes-fixtures.ts'
import { microsoftMailbox } from '../../../test/servers/microsoft-mailbox.ts'
import { changesConformance } from '../contract/changes-conformance.ts'

changesConformance('microsoft', async () => idChanges(await microsoftMailbox(), false))
