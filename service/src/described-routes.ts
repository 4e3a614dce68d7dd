import { type FeatureServices, featuresOf, routesOf } from './features.ts';

/** The definitions of all operations. Their handlers cannot run, because they have no services. */
export const describedRoutes = routesOf(featuresOf({} as FeatureServices));
