/** Which keys each instance knows. The row of an instance that no longer exists means nothing, until retention deletes it. */
interface InstanceKeyTable {
  instanceId: string
  /** Separated by commas, the primary key first. */
  keyIds: string
}

declare module '../../platform/db/db.ts' {
  interface Tables {
    instanceKeys: InstanceKeyTable
  }
}
