import type { Feature } from '../../feature.ts'
import { purgeInstanceKeys } from './instance-keys.ts'

export const encryptionFeature = {
  name: 'encryption',
  tables: {
    instanceKeys: { deletedBy: ['purge'], isInBackup: false },
  },
  purge: [{ rows: 'instanceKeys', purge: purgeInstanceKeys, keptFor: 0 }],
} as const satisfies Feature
