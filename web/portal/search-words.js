// @ts-check
/** What the search knows about words: of which words questions consist, and which words mean the same. */

/** Words that do not say what a reader looks for. */
export const stopWords = new Set(
  `a about all already also always am an and any are as at be been but by can cant could do does doesnt dont endpoint endpoints for from get gets getting give go
  got had has have how i if in into is it its just like make many me mine much my need no not of on one onto or our
  please should so some than that the their them then there these they thing this those to too us use used using want was
  we were what whats when where which while why will with without work works would you your`.split(/\s+/),
);

/** Words that mean the same to the search, each group in a line. */
export const sameWords = `
  pet animal product item dog cat puppy puppies kitten hamster rabbit parrot bird goldfish fish ferret turtle snake pony horse goods merchandise sku article
  create add insert register make made
  change edit modify update alter rename amend patch
  delete remove destroy erase drop discard
  cancel refund undo revert abort
  read fetch retrieve show see view query display look
  buy bought purchase checkout
  sell sold sale sells
  key token credential apikey
  stock inventory warehouse
  unit quantity piece amount
  limit quota allowance throttle cap
  ban block suspend blacklist lockout
  webhook hook callback
  notify notification inform
  warn warning alert remind reminder
  stream sse eventsource live realtime push websocket socket
  error exception failure fail problem
  plan tier subscription
  customer buyer shopper
  paging pagination paginate
  large big huge largest biggest maximum max size
  deprecated sunset retired obsolete discontinued
  machine laptop computer pc localhost local
  scope permission right privilege
  twice duplicate double
  batch bulk mass
  multiple several
  network ip cidr subnet allowlist whitelist firewall
  complete finish fulfil fulfill fulfillment close done
  ship shipped dispatch
  reserve hold reservation book booking
  sdk library package npm module
  command cli terminal shell bash
  agent ai llm assistant chatbot claude chatgpt gpt copilot gemini
  csv spreadsheet excel xlsx
  export download dump
  import upload
  wait sleep delay backoff
  disable pause deactivate off
  enable activate
  resend redeliver redelivery
  revoke invalidate kill withdraw
  rotate renew roll swap
  expire expiry expiration
  down outage downtime incident unavailable offline
  health alive liveness
  browser frontend website storefront
  approve accept grant
  decline reject refuse deny
  increase raise increment
  decrease reduce decrement subtract
  count total
  time timezone timestamp date datetime utc
  signature hmac sign
  verify validate check
  leak expose stolen steal compromise
  test sandbox staging
  mock fake stub
  example sample snippet recipe
  field property attribute
  response reply answer
  request call
  employee staff colleague
  401 unauthorized unauthenticated
  403 forbidden
  send sent
  lost lose miss missed
  different another other`
  .trim()
  .split(/\n\s*/);
