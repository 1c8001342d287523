/**
 * The labels and folders of mailboxes. A label keeps its id when its folder is renamed. Sync writes the rows; lists of
 * messages refer to them.
 */
import './tables.ts'

export { isMainFolder } from './read.ts'
export { type LabelRoutesDeps, labelRoutes } from './routes.ts'
export {
  eraseLabels,
  hasProviderColumns,
  type LabelRow,
  type LabelStore,
  labelStore,
  newLabelRow,
  providerColumns,
} from './store.ts'
