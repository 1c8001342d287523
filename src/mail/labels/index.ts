/**
 * The labels and folders of mailboxes. A label keeps its id when its folder is renamed. Sync writes the rows that a listing changes,
 * changing/ those that the API changes; lists of messages refer to them.
 */
import type {} from './tables.ts'

export { type LabelChanger, labelChanger } from './edit/changer.ts'
export { labelChangeRoutes } from './edit/routes.ts'
export { type FolderCounts, folderEvent } from './events.ts'
export { labelsFeature } from './feature.ts'
export { type FolderPlan, planFolders } from './plan.ts'
export { isMainFolder } from './read.ts'
export { labelRoutes } from './routes.ts'
export {
  isAsListed,
  type LabelRow,
  type LabelStore,
  labelStore,
  listedColumns,
  newLabelRow,
} from './store.ts'
