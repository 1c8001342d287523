import { microsoftDraftsFixture } from '../../../test/servers/drafts-fixtures.ts'
import { draftsConformance } from '../contract/drafts-conformance.ts'

draftsConformance('microsoft', microsoftDraftsFixture)
