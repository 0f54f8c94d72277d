package lambada

import (
	"strings"

	"universal-transformer/internal/penn"
)

// functionWords are the words that are not content words: articles, pronouns, prepositions, conjunctions, auxiliaries, clitics,
// particles.
var functionWords = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(`
		a an the this that these those some any no every each either neither both all half such another other others one ones none
		i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its
		itself they them their theirs themselves who whom whose which what whoever whatever whichever someone somebody something anyone
		anybody anything everyone everybody everything nobody nothing
		of in to for with on at from by about as into like through after over between out against during without before under around
		among up down off above near behind beside besides beyond within along across toward towards upon inside outside onto despite
		except until till since than per via
		and but or nor so yet if because although though while whereas unless whether when whenever where wherever why how
		be is am are was were been being have has had having do does did done doing will would shall should can could may might must
		ought 's 'm 're 've 'd 'll n't ca wo gon na not need dare
		then there here now just only even also too very quite rather much many more most few less least own same again once ever never
		always still already else however yes oh well mr mr. mrs mrs.`) {
		set[w] = true
	}
	return set
}()

// isContent reports whether a token is a content word.
func isContent(token string) bool {
	return penn.IsWord(token) && !functionWords[token] && !strings.HasPrefix(token, "'")
}
