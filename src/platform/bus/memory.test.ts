import { describeBus } from './conformance/bus.ts'
import { memoryBus } from './memory.ts'

describeBus('the memory bus', { isShared: false }, async () => async (log) => memoryBus({ log }))
