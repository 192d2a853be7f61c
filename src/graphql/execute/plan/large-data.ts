/** The data of responses that take long to process, so that each loop over them passes a `Slice`. */
export const largeData: WeakSet<object> = new WeakSet();
