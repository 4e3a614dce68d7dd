import { type FeatureServices, featuresOf, routesOf } from './features.ts';

/** Every operation as its definition describes it, with nothing to run it: only handlers use the services. */
export const describedRoutes = routesOf(featuresOf({} as FeatureServices));
