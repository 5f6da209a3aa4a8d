/* SPDX-License-Identifier: Apache-2.0
 *
 * One Iceberg table, a writer, rewrites that fold deletes, and conversions of equality deletes: every interleaving of
 * their commits, and after each commit the rows of the table against the rows that the writer's statements mean.
 *
 * A data file is the set of rows it holds and a data sequence number. A row has a key (its parity). Table spec,
 * "Scan Planning": an equality delete applies to data files with a strictly smaller sequence number; a position delete
 * to the file it names, if that is not newer; a deletion vector to the one file it names.
 *
 * Each NO_... macro takes one guard of the committer away; the test expects that each of them alone loses, doubles or
 * revives a row. DV stores positions as one deletion vector a file (v3) in place of position delete files (v2).
 */

#define ROWS 4
#define FILES 8
#define POSITIONS 8
#define EQUALITIES 3
#ifndef STATEMENTS
#define STATEMENTS 4
#endif

#define KEYROWS(k) ((5 << (k)) & 15)

byte seq;                                                       /* last sequence number */
byte files; byte frows[FILES]; byte fseq[FILES]; bool flive[FILES];
byte positions; byte ptarget[POSITIONS]; byte prows[POSITIONS]; byte pseq[POSITIONS]; bool plive[POSITIONS];
byte equalities; byte ekey[EQUALITIES]; byte eseq[EQUALITIES]; bool elive[EQUALITIES];
byte dv[FILES];                                                 /* with DV: the live vector of each file */

byte rows;   /* handed out */
byte model;  /* the rows that a reader must see */

/* The rows of file f that a reader sees into v, leaving out equality delete `but` (EQUALITIES: none). */
inline visible(f, but, v) {
  v = frows[f] & ~dv[f];
  i = 0;
  do
  :: i < positions ->
     if
     :: plive[i] && ptarget[i] == f && pseq[i] >= fseq[f] -> v = v & ~prows[i]
     :: else
     fi;
     i++
  :: else -> break
  od;
  i = 0;
  do
  :: i < equalities ->
     if
     :: elive[i] && i != but && eseq[i] > fseq[f] -> v = v & ~KEYROWS(ekey[i])
     :: else
     fi;
     i++
  :: else -> break
  od;
  i = 0
}

inline check() {
  d_step {
    all = 0; f = 0;
    do
    :: f < files ->
       if
       :: flive[f] ->
          visible(f, EQUALITIES, v);
          assert((all & v) == 0);  /* no row twice */
          all = all | v
       :: else
       fi;
       f++
    :: else -> break
    od;
    assert((all & ~model) == 0);   /* no row came back */
    assert((model & ~all) == 0);   /* no row was lost */
    f = 0; v = 0; all = 0
  }
}

inline add_file(with, number) {
  frows[files] = with; fseq[files] = number; flive[files] = true; dv[files] = 0;
  files++
}

/* A position delete file of one commit, or the rows go into the file's vector. */
inline add_positions(f, which) {
#ifdef DV
  dv[f] = dv[f] | (which);
#else
  ptarget[positions] = f; prows[positions] = (which); pseq[positions] = seq; plive[positions] = true;
  positions++;
#endif
}

inline add_equality(key) {
  ekey[equalities] = key; eseq[equalities] = seq; elive[equalities] = true;
  equalities++
}

proctype Writer() {
  byte i, f, v, all, r, left = STATEMENTS;
  do
  :: left > 0 ->
     left--;
     atomic {
       if
       :: rows < ROWS -> /* append */
          seq++; add_file(1 << rows, seq); model = model | 1 << rows; rows++
       :: rows < ROWS && equalities < EQUALITIES -> /* upsert: the delete and the new row have one sequence number */
          seq++;
          add_equality(rows & 1);
          add_file(1 << rows, seq);
          model = (model & ~KEYROWS(rows & 1)) | 1 << rows;
          rows++
       :: positions + 4 < POSITIONS && model != 0 -> /* delete one row where it is now */
          select(r : 0 .. ROWS - 1);
          if
          :: (model >> r) & 1 -> skip
          :: else -> goto done
          fi;
          f = 0;
          do
          :: f < files ->
             if
             :: flive[f] ->
                visible(f, EQUALITIES, v);
                if
                :: (v >> r) & 1 -> break
                :: else
                fi
             :: else
             fi;
             f++
          :: else -> assert(false)
          od;
          seq++; add_positions(f, 1 << r); model = model & ~(1 << r)
       :: files > 0 -> /* overwrite: a whole file leaves the table */
          select(f : 0 .. files - 1);
          if
          :: flive[f] ->
             visible(f, EQUALITIES, v);
             seq++; flive[f] = false; model = model & ~v
          :: else
          fi
       fi;
done:  f = 0; v = 0; r = 0;
       check()
     }
  :: else -> break
  od
}

/* rewrite_data_files with deletes folded: plan and read at one snapshot, commit at a later one. */
proctype Rewrite() {
  byte i, f, v, all, inputs, out, snapshot, largest, number, smallest, later;
  bool fits;

  atomic { /* plan, and read all that the snapshot knows */
    snapshot = seq; number = 255; f = 0;
    do
    :: f < files ->
       if
       :: flive[f] ->
          visible(f, EQUALITIES, v);
          inputs = inputs | 1 << f; out = out | v;
          if :: fseq[f] > largest -> largest = fseq[f] :: else fi;
          if :: fseq[f] < smallest || smallest == 0 -> smallest = fseq[f] :: else fi
       :: flive[f] -> skip /* not chosen */
       :: !flive[f]
       fi;
       f++
    :: else -> break
    od;
    f = 0; v = 0;
#ifdef DV
    f = 0;
    do
    :: f < files -> later = later | (dv[f] & frows[f] & -((inputs >> f) & 1)); f++
    :: else -> break
    od;
    all = later; later = 0; f = 0 /* `all`: the vectors' rows that the plan has seen */
#endif
  }

  atomic { /* commit */
    if :: inputs == 0 -> goto end :: else fi;
    f = 0;
    do
    :: f < files ->
#ifndef NO_INPUTS_LIVE
       if :: ((inputs >> f) & 1) && !flive[f] -> goto end :: else fi;
#endif
#ifdef DV
       if :: (inputs >> f) & 1 -> later = later | (dv[f] & frows[f]) :: else fi;
#endif
       f++
    :: else -> break
    od;
#ifdef DV
    later = later & ~all; all = 0;
#else
    i = 0;
    do
    :: i < positions ->
       if
       :: plive[i] && ((inputs >> ptarget[i]) & 1) && pseq[i] > snapshot -> later = later | prows[i]
       :: else
       fi;
       i++
    :: else -> break
    od;
    i = 0;
#endif
    later = later & out;
#ifndef NO_REBASE
    if
    :: later != 0 -> goto end /* give the group up */
    :: true                   /* or translate, below */
    fi;
#endif
    seq++;
    select(number : 0 .. snapshot);
    if :: number < largest -> number = largest :: else fi;
#ifdef NO_SEQUENCE_UPPER
    number = seq;
#endif
#ifdef NO_SEQUENCE_LOWER
    number = smallest;
#endif
    f = 0;
    do
    :: f < files -> if :: (inputs >> f) & 1 -> flive[f] = false :: else fi; f++
    :: else -> break
    od;
    if
    :: out != 0 ->
       add_file(out, number);
#ifndef NO_REBASE
       if
       :: later != 0 -> add_positions(files - 1, later)
       :: else
       fi
#endif
    :: else
    fi;

    /* Position deletes without their file. */
    i = 0;
    do
    :: i < positions -> if :: plive[i] && !flive[ptarget[i]] -> plive[i] = false :: else fi; i++
    :: else -> break
    od;
    /* Equality deletes that no live file is older than. */
    i = 0;
    do
    :: i < equalities ->
       fits = elive[i]; f = 0;
       do
       :: f < files ->
#ifdef NO_SURVIVING_FILES
          if :: f == files - 1 && flive[f] && fseq[f] < eseq[i] -> fits = false :: else fi;
#else
#ifdef NO_ADDED_FILES
          if :: f != files - 1 && flive[f] && fseq[f] < eseq[i] -> fits = false :: else fi;
#else
          if :: flive[f] && fseq[f] < eseq[i] -> fits = false :: else fi;
#endif
#endif
          f++
       :: else -> break
       od;
       if
       :: fits -> elive[i] = false
       :: true
       fi;
       i++
    :: else -> break
    od;
    fits = false;
end: f = 0; v = 0; i = 0; all = 0; inputs = 0; out = 0; snapshot = 0; largest = 0; number = 0; smallest = 0; later = 0;
    check()
  }
}

/* rewrite-deletes: one equality delete becomes positions. */
proctype Convert() {
  byte i, f, v, all, e, scanned;
  byte found[FILES], seen[FILES];

  atomic {
    if :: equalities == 0 -> goto end :: else fi;
    select(e : 0 .. equalities - 1);
    if :: !elive[e] -> goto end :: else fi;
    f = 0;
    do
    :: f < files ->
       if
       :: flive[f] && fseq[f] < eseq[e] ->
          scanned = scanned | 1 << f;
          visible(f, e, v);
          found[f] = v & KEYROWS(ekey[e]);
          seen[f] = dv[f]
       :: else
       fi;
       f++
    :: else -> break
    od;
    f = 0; v = 0
  }

  atomic {
    if :: !elive[e] -> goto end :: else fi;
    f = 0;
    do
    :: f < files ->
#ifndef NO_ALL_SCANNED
       if :: flive[f] && fseq[f] < eseq[e] && !((scanned >> f) & 1) -> goto end :: else fi;
#endif
       f++
    :: else -> break
    od;
    if :: positions + 4 >= POSITIONS -> goto end :: else fi; /* the model's room, not a rule */
    seq++; f = 0;
    do
    :: f < files ->
       if
       :: found[f] != 0 && flive[f] ->
#ifdef NO_FRESH_VECTOR
          dv[f] = seen[f] | found[f]
#else
          add_positions(f, found[f])
#endif
       :: else
       fi;
       f++
    :: else -> break
    od;
    elive[e] = false;
end: e = 0; scanned = 0; f = 0; v = 0; i = 0; all = 0;
    do
    :: f < FILES -> found[f] = 0; seen[f] = 0; f++
    :: else -> break
    od;
    f = 0;
    check()
  }
}

init {
  atomic {
    run Writer(); run Rewrite(); run Rewrite();
#ifndef NO_CONVERSION
    run Convert()
#endif
  }
}
