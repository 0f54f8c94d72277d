package recipes

// expected is the published accuracy and time of recipes and families.
var expected = map[string]string{}
