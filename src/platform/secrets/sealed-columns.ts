/** A column of sealed texts. Declared by the feature that writes it, so that rotating the keys reaches it. */
export interface SealedColumn {
  table: string
  /** Its primary key. */
  key: string
  column: string
  /** Returns the context that `seal` was called with, by the primary key of the row. */
  sealContext(key: string): string
  /** Only rows with these primary keys are sealed. */
  only?: readonly string[]
}
