/**
 * A backup as one file: gzip of lines of JSON.
 *
 *     {"posthornBackup":1,"version":…,"migrations":[…],…}      header
 *     {"table":"accounts","columns":["id",…]}                  then one array per row
 *     ["acc_1",…]
 *     {"end":"accounts","rows":1,"sha256":"…"}                 of the rows
 *     …
 *     {"complete":true,"tables":40,"rows":…,"sha256":"…"}      of all lines but the rows
 *
 * Both engines write the same arrays, so a backup of one restores to the other. Without its last line a file is not a backup.
 */
export type { ArchiveHeader, ArchiveSummary, TableHead } from './format.ts'
export { type ArchiveVisitor, readArchive } from './reader.ts'
export { writeArchive } from './writer.ts'
