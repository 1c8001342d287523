/**
 * Folders and labels as rows, whose ids outlive a rename. Sync keeps them; lists and filters of messages use them.
 */
import './tables.ts'

export { hasProviderColumns, newLabelRow, providerColumns } from './label.ts'
export { type LabelRoutesDeps, labelRoutes } from './routes.ts'
export { eraseLabels, type LabelRow, type LabelStore, labelStore } from './store.ts'
