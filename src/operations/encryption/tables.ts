/** Which keys each running instance knows. Rows of instances that are gone mean nothing. */
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
