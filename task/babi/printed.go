package babi

// Printed is a story printed in appendix D of the paper, and the figure that shows it.
type Printed struct {
	Figure int // number of the figure in the paper
	Task   int // number of the task whose form it has
	Text   string
	Answer string
}

// Stories are the four stories that the paper prints, in the order of their figures. That of figure 3 (ponder times of task 3) is not
// printed.
var Stories = []Printed{
	{5, 1, `John travelled to the hallway. Mary journeyed to the bathroom. Daniel went back to the bathroom. John moved to the bedroom.
Where is Mary?`, "bathroom"},
	{6, 2, `Sandra journeyed to the hallway. Mary went to the bathroom. Mary took the apple there. Mary dropped the apple.
Where is the apple?`, "bathroom"},
	{7, 2, `John went to the hallway. John went back to the bathroom. John grabbed the milk there. Sandra went back to the office.
Sandra journeyed to the kitchen. Sandra got the apple there. Sandra dropped the apple there. John dropped the milk.
Where is the milk?`, "bathroom"},
	{8, 3, `Mary got the milk. John moved to the bedroom. Daniel journeyed to the office. John grabbed the apple there.
John got the football. John journeyed to the garden. Mary left the milk. John left the football. Daniel moved to the garden.
Daniel grabbed the football. Mary moved to the hallway. Mary went to the kitchen. John put down the apple there. John picked up the apple.
Sandra moved to the hallway. Daniel left the football there. Daniel took the football. John travelled to the kitchen.
Daniel dropped the football. John dropped the apple. John grabbed the apple. John went to the office. Sandra went back to the bedroom.
Sandra took the milk. John journeyed to the bathroom. John travelled to the office. Sandra left the milk. Mary went to the bedroom.
Mary moved to the office. John travelled to the hallway. Sandra moved to the garden. Mary moved to the kitchen. Daniel took the football.
Mary journeyed to the bedroom. Mary grabbed the milk there. Mary discarded the milk. John went to the garden. John discarded the apple there.
Where was the apple before the bathroom?`, "office"},
}
