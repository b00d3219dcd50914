//! Requests of groff without a text of their own.

/// Requests for the layout, files, messages and the like. Their arguments are not shown.
const WITHOUT_TEXT: &str = "\
    ab ad af aln als am am1 ami ami1 as as1 asciify backtrace bd blm box boxa bp br break brp c2 cc ce cf cflags ch \
    char chop class close color composite continue cp cs cu da de de1 defcolor dei dei1 device devicem di do ds ds1 dt \
    ec ecr ecs el em eo ev evc ex fam fc fchar fcolor fi fl fp fschar fspecial ft ftr fzoom gcolor hc hcode hla hlm hpf \
    hpfa hpfcode hw hy hylang hym hys ie if ig in it itc kern lc length lf lg linetabs ll ls lsm lt mc min mk mso na ne \
    nf nh nm nn nr nroff ns nx open opena os output pc pev pi pl pm pn pnr po ps psbb pso ptr pvs rchar rd return rfschar \
    rj rm rn rnn rr rs rt schar shc shift sizes so sp special spreadwarn ss stringdown stringup substring sv sy ta tag \
    taga tc ti tkf tm tm1 tmc tr track trf trin trnt troff uf ul unformat vpt vs warn warnscale wh while write writec \
    writem";

pub(super) fn is_without_text(name: &str) -> bool {
    WITHOUT_TEXT.split_whitespace().any(|known| known == name)
}
